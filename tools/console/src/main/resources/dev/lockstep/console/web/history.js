// The page History: how many calls waited, over time, and what blocked them at the moment that the slider points to.
import { h, svg, t, update } from "./dom.js";
import { moment, number, text } from "./i18n.js";
import { blockerList, empty } from "./parts.js";

const HEIGHT = 90;

export function historyPage(main, state) {
  let chosen = null;
  let moments = [];
  const chart = svg("svg", { class: "chart", role: "img", "aria-label": text("history.chart"), preserveAspectRatio: "none" });
  const slider = h("input", { id: "slider", type: "range", min: "0", max: "0", step: "1", input: () => {
    const index = Number(slider.value);
    chosen = index >= moments.length - 1 ? null : moments[index][0];
    state.refresh();
  } });
  const live = h("button", { type: "button", click: () => { chosen = null; state.refresh(); } }, t("history.live"));
  const at = h("output", { for: "slider" });
  const content = h("div");
  main.append(
    h("h1", {}, t("history.title")), h("p", { class: "hint" }, t("history.help")),
    h("div", { class: "timeline" }, chart, h("label", { for: "slider", class: "hidden" }, t("history.at")), slider),
    h("div", { class: "head" }, at, live), content);
  return {
    path: () => "api/history" + (chosen === null ? "" : "?at=" + chosen),
    show(data) {
      const view = data.history;
      moments = view.moments;
      slider.max = String(Math.max(0, moments.length - 1));
      live.disabled = chosen === null;
      if (!moments.length) {
        update(content, [empty("history.none")]);
        return;
      }
      const index = Math.max(0, moments.findIndex(each => each[0] === view.at));
      // Once the hour is full, each new moment shifts the others.
      slider.value = chosen === null ? slider.max : String(Math.max(0, moments.findIndex(each => each[0] === chosen)));
      slider.setAttribute("aria-valuetext", moment(view.at));
      draw(chart, moments, index);
      update(at, [h("strong", {}, moment(view.at)), " · ", number(view.held), " ", t("history.held"), " · ", number(view.waiting), " ", t("history.waiting")]);
      const { engine, blockers, moreBlockers } = view.shown;
      update(content, [
        engine.reachable ? null : h("p", { class: "problem" }, t("history.down"), " ", h("span", { class: "detail" }, engine.error)),
        blockers.length ? blockerList(blockers, true) : engine.reachable ? empty("history.quiet") : null,
        moreBlockers ? h("p", { class: "hint" }, t("history.more", { n: number(moreBlockers) })) : null]);
    }
  };
}

/** Bars: waiting calls; red where the engine did not answer or a deadlock was seen. */
function draw(chart, moments, index) {
  const most = Math.max(1, ...moments.map(each => each[2]));
  const width = moments.length;
  chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  update(chart, [
    moments.map(([, , waiting, deadlocks, reachable], i) => {
      const height = reachable ? waiting / most * (HEIGHT - 8) : HEIGHT;
      return svg("rect", { x: i, y: HEIGHT - height, width: 0.9, height: Math.max(height, 0.8), class: reachable ? (deadlocks ? "bar bad" : "bar") : "bar down" });
    }),
    svg("rect", { x: index, y: 0, width: 1, height: HEIGHT, class: "cursor" })]);
}
