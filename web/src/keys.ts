// Keys of the whole page, for who has not put the cursor anywhere: a lecture goes by them.

import { element } from "./format";

/** Keys as a browser names them, and the buttons that they press. */
const BUTTONS: Record<string, string> = { " ": "pause", s: "slow", r: "again", f: "fastest", ".": "step", ArrowLeft: "slower", ArrowRight: "faster", "?": "keys" };

/** Elements that take keys themselves. */
const TAKES = "input, select, textarea, button, summary, a[href], [contenteditable], [tabindex]:not(main)";

/** Has keys press buttons, until the reader turns that off. */
export function keys(): void {
  const dialog = element<HTMLDialogElement>("help");
  element("keys").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    const on = element<HTMLInputElement>("keys-on").checked;
    if (!on || dialog.open || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    // An arrow moves a slider, and Space presses a button, where the cursor is on one.
    if ((event.target as Element).closest(TAKES)) return;
    let id = BUTTONS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (id === "pause" && element<HTMLButtonElement>("pause").disabled) id = "again";
    const button = id ? element<HTMLButtonElement>(id) : null;
    if (!button || button.disabled || button.hidden) return;
    event.preventDefault();
    button.click();
  });
}
