// A lab file as it is here and on disk: what differs, what somebody else wrote meanwhile, and saving.
import { api, Refusal } from "../api";
import { type Draft, keepDraft, takeDraft } from "../drafts";
import { attempt, tell } from "../tell";
import { createEffect, createSignal, on } from "../view";
import { disk, reached } from "../world";
import { merge } from "./merge";
import type { Source } from "./source";

/** How long saving waits for changes of forms, which wait for the text to be checked, in ms. */
const SAVE_MS = 2_000;

/** The file as the server has read it; without a tag, there is none on disk. */
export interface Loaded {
  text: string;
  etag: string | null;
}

/** The text with the ends of lines that the editor has. */
const plain = (text: string): string => text.replace(/\r\n?/g, "\n");

/** The text that the page begins with, and what it was on disk then. */
export class Beginning {
  readonly draft: Draft | null;
  readonly base: string;
  readonly text: string;
  constructor(
    readonly path: string,
    readonly loaded: Loaded,
  ) {
    this.draft = takeDraft(path);
    this.base = this.draft?.base ?? plain(loaded.text);
    this.text = this.draft?.text ?? this.base;
  }
}

interface Given {
  beginning: Beginning;
  source: Source;
  /** Resolves when no change of a form waits. */
  idle: () => Promise<void>;
  check: () => void;
}

export class EditedFile {
  /** Whether the text is another than on disk. */
  readonly dirty: () => boolean;
  private readonly setDirty: (dirty: boolean) => void;
  private readonly path: string;
  private readonly crlf: boolean;
  /** The text and the tag that the file had on disk when it was last read or written here. */
  private base: string;
  private etag: string | null;
  private saving = false;

  constructor(private readonly given: Given) {
    const { path, loaded, draft, base } = given.beginning;
    this.path = path;
    this.crlf = loaded.text.includes("\r\n");
    this.base = base;
    this.etag = draft ? draft.etag : loaded.etag;
    [this.dirty, this.setDirty] = createSignal(draft !== null);
    if (draft) this.resume(draft, loaded);
    this.followDisk();
  }

  /** The text has changed. */
  changed(): void {
    this.setDirty(this.given.source.text() !== this.base);
  }

  async save(): Promise<void> {
    // What a form has changed a moment ago is saved, too; a server that does not check keeps nobody from saving.
    await Promise.race([this.given.idle(), new Promise((done) => setTimeout(done, SAVE_MS))]);
    const text = this.given.source.text();
    this.saving = true;
    try {
      this.etag = await api.write(this.path, this.crlf ? text.replaceAll("\n", "\r\n") : text, this.etag);
      this.base = text;
      this.changed();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 412) throw error;
      this.refused(error);
    } finally {
      this.saving = false;
    }
  }

  /** Keeps what is not saved, for when somebody comes back. */
  leave(): void {
    if (this.dirty()) keepDraft(this.path, { text: this.given.source.text(), base: this.base, etag: this.etag });
  }

  /** The file on disk is not the one that was read here. */
  private refused(error: Refusal): never {
    const theirs = error.body.text;
    if (typeof theirs === "string") {
      this.take(plain(theirs), String(error.body.etag));
      throw new Error("the file has been changed by someone else meanwhile: look at the text, and save again");
    }
    this.removed();
    throw new Error("nothing was saved: the file is not there any more");
  }

  private resume(draft: Draft, loaded: Loaded): void {
    const { etag } = loaded;
    if (etag === null && draft.etag !== null) queueMicrotask(() => this.removed());
    else if (etag !== null && etag !== draft.etag) queueMicrotask(() => this.take(plain(loaded.text), etag));
    else tell("What you had written here and not saved is still here.");
  }

  private followDisk(): void {
    createEffect(
      on(disk, (event) => {
        if (!event || event.path !== this.path || event.etag === this.etag || this.saving) return;
        if (event.etag === null) this.removed();
        else attempt(() => this.look());
      }),
    );
    // What happened while the server was away, nobody has told.
    createEffect(
      on(reached, (is, was) => {
        if (is && was === false) attempt(() => this.look());
      }),
    );
  }

  private async look(): Promise<void> {
    const now = await api.read(this.path).catch((error: unknown) => {
      if (error instanceof Refusal && error.status === 404) return null;
      throw error;
    });
    if (this.saving) return;
    if (now === null) {
      if (this.etag !== null) this.removed();
    } else if (now.etag !== this.etag) this.take(plain(now.text), now.etag);
  }

  /** Joins what is on disk now with what was changed here. */
  private take(theirs: string, tag: string): void {
    const { source, check } = this.given;
    const { text, conflict } = merge(this.base, source.text(), theirs);
    [this.base, this.etag] = [theirs, tag];
    source.replace(text);
    this.setDirty(text !== this.base);
    tell(
      conflict
        ? "The file was changed here and on disk at the same place: both are in the text, between marks."
        : "The file was changed on disk: both changes are in the text.",
      conflict,
    );
    check();
  }

  /** The file is gone from disk: saving writes it anew. */
  private removed(): void {
    [this.base, this.etag] = ["", null];
    this.setDirty(true);
    tell("The file was removed from disk; the text is still here, and saving creates the file again.", true);
  }
}
