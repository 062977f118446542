// Browsers start no worker from the file system, where the search of these pages runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.frame.srcdoc =
        "<script>postMessage = (data) => frameElement.answer(data)</script>" +
        `<script src="${encodeURI(decodeURI(url))}"></script>`;
      this.ready = new Promise((done) => this.frame.addEventListener("load", done, { once: true }));
      document.documentElement.append(this.frame);
    }

    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}

// A search for an option, such as "--skip-unknown", looks for its words: a hyphen before a word would exclude it.
{
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message, ...others) {
    const isQuery = typeof message?.data === "string";
    const data = isQuery ? message.data.replace(/(^|\s)--+(?=\w)/g, "$1") : message?.data;
    postMessage.call(this, isQuery ? { ...message, data } : message, ...others);
  };
}
