// The editors of the page, in a file of their own that is loaded when one of them is opened: a run need not wait for it.

import type * as Editors from "./editor";
import type { EditorView } from "@codemirror/view";
import type { ScenarioEditor } from "./editor";
import type { Fault } from "./model";
import type { Schema } from "./schema";

let loading: Promise<typeof Editors> | null = null;

/** The editors, once their file is there. */
export function editors(): Promise<typeof Editors> {
  loading ??= new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = "editor.js";
    script.addEventListener("load", () => done((globalThis as unknown as { cellrateEditors: typeof Editors }).cellrateEditors));
    script.addEventListener("error", () => {
      loading = null;
      fail(new Error("the file editor.js of this page, which holds the editors, cannot be loaded"));
    });
    document.head.append(script);
  });
  return loading;
}

/** The text of the scenario, and its editor where that has been opened. */
export class ScenarioText {
  private held = "";
  private editor: ScenarioEditor | null = null;
  private opening: Promise<ScenarioEditor> | null = null;

  constructor(
    private readonly place: HTMLElement,
    private readonly file: () => string,
    private readonly schema: () => Schema | null,
    private readonly check: (text: string) => Promise<Fault | null>,
    private readonly changed: () => void,
  ) {}

  get text(): string {
    return this.editor?.text ?? this.held;
  }

  set text(text: string) {
    this.held = text;
    if (this.editor) this.editor.text = text;
  }

  /** Gives the editor, made where there is none yet. */
  open(): Promise<ScenarioEditor> {
    this.opening ??= editors().then(
      ({ ScenarioEditor }) => {
        this.editor = new ScenarioEditor(this.place, this.held, this.file, this.schema, this.check, this.changed);
        return this.editor;
      },
      (thrown) => {
        this.opening = null;
        throw thrown;
      },
    );
    return this.opening;
  }

  /** Puts the cursor where a fault is. */
  async show(fault: Fault): Promise<void> {
    const editor = await this.open();
    editor.show(fault);
    editor.view.focus();
  }
}

/** The code of an algorithm, and its editor where that has been opened. */
export class CodeText {
  private view: EditorView | null = null;
  private opening: Promise<void> | null = null;

  constructor(
    private readonly place: HTMLElement,
    private held: string,
  ) {}

  get text(): string {
    return this.view?.state.doc.toString() ?? this.held;
  }

  set text(text: string) {
    this.held = text;
    this.view?.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  /** Makes the editor where there is none yet. */
  open(): Promise<void> {
    this.opening ??= editors().then(
      ({ codeEditor }) => {
        this.view = codeEditor(this.place, this.held);
      },
      (thrown) => {
        this.opening = null;
        throw thrown;
      },
    );
    return this.opening;
  }
}
