// Links to what is shown, at each address by which somebody may reach a copy of this page.

import { element, made } from "./format";
import { told } from "./told";

const LOCAL = /^(127\.|localhost$|\[::1\]$)/;

/** A link, and who can open it. */
interface Link {
  who: string;
  address: string;
}

/** The links to a fragment. */
export function links(fragment: string): Link[] {
  const here = location.href.split("#")[0];
  const isFile = location.protocol === "file:";
  const isLocal = !isFile && LOCAL.test(location.hostname);
  const own = isFile ? "On this disk" : isLocal ? "On this machine alone, while the server runs" : "Where this page is";
  const others = told.served.filter((address) => address !== here);
  return [
    { who: own, address: here + fragment },
    ...others.map((address) => ({ who: "From other machines", address: address + fragment })),
    { who: "Behind the address of any other copy of this page", address: fragment },
  ];
}

/** Shows them, to be copied. */
export function showLinks(fragment: string): void {
  const place = element("links");
  const rows = links(fragment).map(({ who, address }) => {
    const row = made("label", "link", who);
    const field = made("input");
    field.readOnly = true;
    field.value = address;
    field.addEventListener("focus", () => field.select());
    const copy = made("button", "", "Copy");
    copy.type = "button";
    copy.addEventListener("click", () => {
      field.select();
      navigator.clipboard.writeText(address).then(
        () => (element("said").textContent = "The link is in the clipboard."),
        () => (element("said").textContent = "This browser does not let the page copy: press Ctrl-C."),
      );
    });
    const both = made("div", "linkrow");
    copy.ariaLabel = `Copy: ${who}`;
    row.append(field);
    both.append(row, copy);
    return both;
  });
  const alone = !told.served.length && location.protocol !== "file:" && LOCAL.test(location.hostname);
  const hint = made("p", "hint", "For others: `cellrate lab --host 0.0.0.0 --token TEXT` serves the page to a class, with addresses that stay the same; `cellrate lab --write DIR` makes files for any web server.");
  place.replaceChildren(...rows, ...(alone ? [hint] : []));
  place.hidden = false;
}
