// A dialog that goes away with everything in it.
import { fresh } from "../components/dom";
import { createRoot, el, type View } from "./view";

export function dialog(title: string, body: (close: () => void) => View): void {
  createRoot((dispose) => {
    const heading = fresh("dialog");
    const close = (): void => box.close();
    const box: HTMLDialogElement = el(
      "dialog",
      {
        class: "sheet",
        "aria-labelledby": heading,
        onclose: () => {
          box.remove();
          dispose();
        },
      },
      el("h2", { id: heading }, title),
    );
    box.append(el("div", {}, body(close)));
    document.body.append(box);
    box.showModal();
  });
}
