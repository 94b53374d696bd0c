// Joining two nodes by a link: both are chosen before, or one after the other.
import { announce } from "../../components/download";
import { createSignal } from "../view";
import type { Chosen } from "./chosen";

export class Joining {
  /** The node that is joined with the next one; empty: none is chosen yet; null: nothing is joined. */
  private readonly from: () => string | null;
  private readonly setFrom: (from: string | null) => void;

  constructor(
    private readonly chosen: () => Chosen,
    private readonly join: (a: string, b: string) => void,
  ) {
    [this.from, this.setFrom] = createSignal<string | null>(null);
  }

  readonly isOn = (): boolean => this.from() !== null;

  readonly words = (): string =>
    `${this.from() ? `${this.from()} is joined with the node that you choose next` : "Choose the two nodes that the link joins, one after the other"}; Escape ends it.`;

  /** Joins what is chosen, or waits for what is chosen next; if it waits already, that ends. */
  readonly press = (): void => {
    const [a, b, ...more] = this.chosen().nodes;
    if (this.isOn()) this.end();
    else if (a !== undefined && b !== undefined && more.length === 0) this.join(a, b);
    else this.wait(a !== undefined && b === undefined ? a : "");
  };

  readonly end = (): void => {
    this.setFrom(null);
    announce("no link is made");
  };

  /** Nodes were chosen while it waits. */
  next(nodes: string[]): void {
    const from = this.from();
    const next = nodes.find((name) => name !== from);
    if (next === undefined) return;
    if (!from) this.wait(next);
    else {
      this.setFrom(null);
      this.join(from, next);
    }
  }

  private wait(from: string): void {
    this.setFrom(from);
    announce(this.words());
  }
}
