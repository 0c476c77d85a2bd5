// Has the search work on pages that are read from the disk, where browsers start no workers: the worker's script runs in
// a hidden frame instead. The offline plugin takes a file of this name in place of one from the network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.srcdoc = `<script src="${new URL(url, location.href)}"></script>`
      this.inside = new Promise(resolve => frame.addEventListener("load", () => {
        const inside = frame.contentWindow
        inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}))
        resolve(inside)
      }))
      document.body.append(frame)
    }

    async postMessage(data) {
      const inside = await this.inside
      inside.dispatchEvent(new MessageEvent("message", {data}))
    }
  }
}
