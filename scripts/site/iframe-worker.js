// Pages that are opened from files may not start workers: there, the worker of the search runs in a hidden frame of the page.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #frame = document.createElement("iframe");
    #loaded = new Promise((resolve) => this.#frame.addEventListener("load", resolve));

    constructor(url) {
      super();
      this.#frame.hidden = true;
      this.#frame.srcdoc = `<script src="${url}"></script>`;
      this.#loaded.then(() => {
        this.#frame.contentWindow.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      });
      document.body.append(this.#frame);
    }

    postMessage(data) {
      this.#loaded.then(() => this.#frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
