// Editors: scenarios with the schema's keys and the parser's own errors, algorithms in JavaScript.

import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, forceLinting, linter, lintGutter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import type { Fault } from "./model";
import { how, keys, type Schema, where, words } from "./schema";

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--faint)" },
  { tag: [tags.string, tags.number, tags.bool, tags.atom], color: "var(--string)" },
  { tag: [tags.keyword, tags.propertyName, tags.variableName, tags.definition(tags.variableName)], color: "var(--key)" },
]);

const looks = EditorView.theme({
  "&": { backgroundColor: "var(--field)", color: "var(--ink)", fontSize: "13px", maxHeight: "460px", border: "1px solid var(--rule)" },
  ".cm-scroller": { overflow: "auto" },
  ".cm-gutters": { backgroundColor: "var(--field)", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selected) !important" },
  ".cm-tooltip": { backgroundColor: "var(--page)", color: "var(--ink)", border: "1px solid var(--rule)" },
});

/** Where a fault stands in a text, as an editor marks it. */
export function diagnostic(view: EditorView, fault: Fault, file: string): Diagnostic {
  const { doc } = view.state;
  const known = fault.line !== undefined && fault.file === file;
  const line = doc.line(known ? Math.min(Math.max(1, fault.line!), doc.lines) : 1);
  // Columns count characters, places of the editor UTF-16.
  const before = known ? [...line.text].slice(0, (fault.column ?? 1) - 1).join("").length : 0;
  const from = Math.min(line.from + before, line.to);
  const to = Math.min(line.to, from + Math.max(1, fault.width ?? 1));
  const message = [fault.key ? `${fault.key}: ` : "", fault.message, ". ", fault.remedy ?? ""].join("").trim();
  return { from, to: Math.max(from, to), severity: "error", message };
}

function completions(schema: () => Schema | null, context: CompletionContext): CompletionResult | null {
  const root = schema();
  if (!root) return null;
  const header = context.matchBefore(/^[ \t]*\[\[?[\w.-]*/);
  if (header) {
    const inside = header.text.replace(/^[ \t]*\[\[?/, "");
    const path = inside.split(".").slice(0, -1);
    const from = header.to - inside.split(".").pop()!.length;
    return { from, options: [...keys(root, path)].map(([label, info]) => ({ label, info, type: "class" })) };
  }
  const { path, key } = where(context.state.sliceDoc(0, context.pos));
  const word = context.matchBefore(key ? /"?[\w.+/%-]*/ : /[\w-]*/);
  if (!context.explicit && (!word || word.from === word.to)) return null;
  if (key) {
    const given = words(root, [...path, key]);
    const hint = how(root, [...path, key]);
    const example = hint.match(/"[^"]*"/)?.[0];
    const options = given.map((label) => ({ label, type: "enum" }));
    if (example && !given.length) options.push({ label: example, type: "constant", info: hint } as never);
    return options.length ? { from: word?.from ?? context.pos, options } : null;
  }
  const options = [...keys(root, path)].map(([label, info]) => ({ label, info, type: "property", apply: `${label} = ` }));
  return options.length ? { from: word?.from ?? context.pos, options } : null;
}

/** An editor of scenarios. */
export class ScenarioEditor {
  readonly view: EditorView;
  private readonly begun: (text: string) => EditorState;

  constructor(
    place: HTMLElement,
    text: string,
    private readonly file: () => string,
    schema: () => Schema | null,
    check: (text: string) => Promise<Fault | null>,
    changed: () => void,
  ) {
    const extensions = [
      // Before what the set-up does with this key: the first that answers is asked.
      keymap.of([{ key: "Mod-Enter", run: () => (changed(), true) }]),
      basicSetup,
      StreamLanguage.define(toml),
      syntaxHighlighting(colours),
      looks,
      EditorView.contentAttributes.of({ "aria-label": "Scenario" }),
      autocompletion({ override: [(context) => completions(schema, context)] }),
      lintGutter(),
      linter(
        async (view) => {
          const fault = await check(view.state.doc.toString());
          return fault ? [diagnostic(view, fault, this.file())] : [];
        },
        { delay: 300 },
      ),
    ];
    this.begun = (doc) => EditorState.create({ doc, extensions });
    this.view = new EditorView({ parent: place, state: this.begun(text) });
    scrolls(this.view);
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    if (text === this.text) return;
    // What was written in another scenario cannot be brought back here.
    this.view.setState(this.begun(text));
    forceLinting(this.view);
  }

  /** Puts the cursor where a fault is. */
  show(fault: Fault): void {
    const { from } = diagnostic(this.view, fault, this.file());
    this.view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    forceLinting(this.view);
  }
}

/** Has an editor scrolled by keys, too. */
function scrolls(view: EditorView): void {
  view.scrollDOM.tabIndex = 0;
}

/** An editor of algorithms. */
export function codeEditor(place: HTMLElement, text: string): EditorView {
  const view = new EditorView({
    parent: place,
    doc: text,
    extensions: [basicSetup, keymap.of([indentWithTab]), javascript(), syntaxHighlighting(colours), looks, EditorView.contentAttributes.of({ "aria-label": "Switch algorithm" })],
  });
  scrolls(view);
  return view;
}
