// The page of one lock, and the dialogue that releases it by force.
import { h, t, update } from "./dom.js";
import { clock, duration, moment, number, text } from "./i18n.js";
import { blockerList, clientName, empty, lockLink, modeText, table } from "./parts.js";

export function lockPage(main, state) {
  const { namespace = "", name = "" } = state.query;
  const title = h("h1", { class: "lockname" }, name);
  const facts = h("p", { class: "hint" });
  const notice = h("p", { class: "notice", role: "status" });
  const parts = h("div");
  const dialogue = h("dialog", { "aria-labelledby": "release-title" });
  main.append(h("p", {}, h("a", { href: "#/now" }, "← ", t("lock.back"))), title, facts, notice, parts, dialogue);

  function ask(lock, entry) {
    const typed = h("input", { id: "typed", autocomplete: "off", spellcheck: "false", input: check });
    const reason = h("input", { id: "reason", maxlength: "500", autocomplete: "off", input: check });
    const go = h("button", { type: "button", class: "danger", disabled: true, id: "go", click: send }, t("release.go"));
    const cancel = h("button", { type: "button", click: () => dialogue.close() }, t("release.cancel"));
    dialogue.replaceChildren(
      h("h2", { id: "release-title" }, t("release.title", { lock: h("code", {}, lock.name), client: h("code", {}, entry.client) })),
      h("p", { class: "warning" }, t("release.warning")),
      h("p", { class: "hint" }, t("col.token"), " ", h("code", {}, entry.token), " · ", t("col.thread"), " ", entry.thread, " · ", t("col.held"), " ", duration(entry.ageMillis)),
      h("label", { for: "typed" }, t("release.name")), typed,
      h("label", { for: "reason" }, t("release.reason")), reason,
      h("div", { class: "actions" }, cancel, go));
    dialogue.showModal();
    typed.focus();

    function check() {
      go.disabled = typed.value !== lock.name || reason.value.trim() === "";
    }

    async function send() {
      go.disabled = true;
      try {
        const answer = await state.post("api/release", {
          namespace: lock.namespace, name: lock.name, confirmation: typed.value, token: entry.token, reason: reason.value });
        notice.textContent = text(answer.released ? "release.done" : "release.nothing");
      } catch (error) {
        notice.textContent = text("release.failed", { error: error.message });
      }
      dialogue.close();
      state.refresh();
    }
  }

  return {
    path: () => "api/lock?" + new URLSearchParams({ namespace, name }),
    show(data) {
      const lock = data.lock;
      update(facts, [t("col.namespace"), " ", namespace, lock.limit ? [" · ", t("mode.semaphore", { n: lock.limit })] : "",
        lock.unlisted ? "" : [" · ", t("col.waiters"), " ", number(lock.waiters)]]);
      const release = data.release && lock.holderList.some(entry => entry.token);
      const columns = [
        { title: text("col.client") }, { title: text("col.host") }, { title: text("col.pid"), class: "figure" }, { title: text("col.thread") }, { title: text("col.mode") },
        { title: text("col.token"), class: "figure" }, { title: text("col.since") }, { title: text("col.held"), class: "figure" }, { title: text("col.left"), class: "figure" },
        { title: text("col.waits") }, release ? { title: text("col.action") } : null].filter(Boolean);
      const holders = lock.holderList.map(entry => ({
        cells: [
          clientName(entry), entry.host, String(entry.pid), h("span", { class: "thread" }, entry.thread), modeText(entry, lock.limit), entry.token ?? "–",
          moment(entry.since), duration(entry.ageMillis), entry.remainingMillis === undefined ? "–" : duration(entry.remainingMillis),
          entry.waitsFor ? lockLink(namespace, entry.waitsFor.lock) : "–",
          release ? h("button", { type: "button", class: "danger", "data-key": entry.token, "data-focus": "release " + entry.token, click: () => ask(lock, entry) }, t("release.button")) : null
        ].slice(0, columns.length)
      }));
      const queue = lock.queue.map((entry, i) => ({
        cells: [String(i + 1), clientName(entry), entry.host, String(entry.pid), h("span", { class: "thread" }, entry.thread), modeText(entry, lock.limit), duration(entry.ageMillis)]
      }));
      update(parts, [
        lock.unlisted ? empty("lock.unlisted") : null,
        lock.blocker ? h("section", {}, h("h2", {}, t("lock.blocker")), blockerList([lock.blocker], true)) : null,
        lock.unlisted ? null : h("section", {}, h("h2", {}, t("lock.holders")),
          holders.length ? h("div", { class: "rows" }, table(text("lock.holders"), columns, holders)) : empty("lock.free"),
          data.release || !holders.length ? null : h("p", { class: "hint" }, t("release.readonly"))),
        lock.unlisted ? null : h("section", {}, h("h2", {}, t("lock.queue")),
          queue.length ? h("div", { class: "rows" }, table(text("lock.queue"), [
            { title: text("col.place"), class: "figure" }, { title: text("col.client") }, { title: text("col.host") }, { title: text("col.pid"), class: "figure" },
            { title: text("col.thread") }, { title: text("col.mode") }, { title: text("col.waited"), class: "figure" }], queue)) : empty("lock.noQueue")),
        h("section", {}, h("h2", {}, t("lock.changes")), h("p", { class: "hint" }, t("lock.sampled")),
          lock.changes.length ? h("ul", { class: "changes" }, lock.changes.map(change =>
            h("li", { class: change.kind }, h("time", {}, clock(change.at)), " ", clientName(change.entry), " ", h("span", { class: "thread" }, change.entry.thread), " ", h("b", {}, t("change." + change.kind)))))
            : empty("lock.noChanges"))]);
    }
  };
}
