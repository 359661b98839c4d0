import type { ExtensionUiRequest } from "@tau-agent/rpc-protocol";
import { dialogSink, HostRequests } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { recordFrames } from "../../../../../apps/cli/test/recording/record-host.ts";
import { createHeadlessUiPort, createUiPort } from "./ui-port.ts";

function port() {
  const requests: ExtensionUiRequest[] = [];
  const send = (request: ExtensionUiRequest): void => {
    requests.push(request);
    recordFrames([request]);
  };
  const asked = new HostRequests();
  asked.attach(dialogSink(send));
  const ui = createUiPort({ requests: asked, send });
  const answer = (given: object, index = requests.length - 1) =>
    ui.answer({ type: "extension_ui_response", id: requests[index]?.id ?? "", ...given });
  return { ...ui, requests, reply: answer };
}

describe("an extension's dialog", () => {
  it("is sent as documented and resolves with the answer to its id", async () => {
    const { ui, requests, reply } = port();
    const first = ui.select("Pick", ["a", "b"], { timeout: 1000 });
    const second = ui.confirm("Sure?", "Really");
    const third = ui.input("Name", "type here");
    const fourth = ui.editor("Text", "line 1\nline 2");
    expect(requests.map(({ type: _, id: __, ...rest }) => rest)).toEqual([
      { method: "select", title: "Pick", options: ["a", "b"], timeout: 1000 },
      { method: "confirm", title: "Sure?", message: "Really" },
      { method: "input", title: "Name", placeholder: "type here" },
      { method: "editor", title: "Text", prefill: "line 1\nline 2" },
    ]);
    reply({ value: "edited" }, 3);
    reply({ value: "name" }, 2);
    reply({ confirmed: true }, 1);
    reply({ value: "b" }, 0);
    expect(await Promise.all([first, second, third, fourth])).toEqual([
      "b",
      true,
      "name",
      "edited",
    ]);
  });

  it("returns the labels of described choices", async () => {
    const { ui, requests, reply } = port();
    const described = [{ label: "one", description: "the first" }, "two"] as unknown as string[];
    const picked = ui.select("Pick", described);
    expect(requests[0]).toMatchObject({ options: ["one", "two"] });
    reply({ value: "one" });
    expect(await picked).toBe("one");
  });

  it("returns undefined when dismissed, or false for a confirmation", async () => {
    const { ui, reply } = port();
    const picked = ui.select("Pick", ["a"]);
    reply({ cancelled: true });
    const confirmed = ui.confirm("Sure?", "");
    reply({ cancelled: true });
    expect([await picked, await confirmed]).toEqual([undefined, false]);
  });

  it("times out automatically, and ignores a late answer", async () => {
    const { ui, reply, answer } = port();
    expect(await ui.input("Name", undefined, { timeout: 5 })).toBeUndefined();
    reply({ value: "too late" });
    answer({ type: "extension_ui_response", id: "unknown", value: "x" });
  });

  it.each([0, 2 ** 31, Number.POSITIVE_INFINITY])(
    "has no time limit with a timeout of %s",
    async (timeout) => {
      const { ui, reply } = port();
      const picked = ui.select("Pick", ["a"], { timeout });
      await new Promise((resolve) => setTimeout(resolve, 20));
      reply({ value: "a" });
      expect(await picked).toBe("a");
    },
  );

  it("ends when its signal aborts, and is not sent if it was aborted before", async () => {
    const { ui, requests } = port();
    const controller = new AbortController();
    const open = ui.confirm("Sure?", "", { signal: controller.signal });
    controller.abort();
    expect(await open).toBe(false);
    expect(await ui.select("Pick", ["a"], { signal: controller.signal })).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  it("ends with all others when the run is aborted or the client disconnects", async () => {
    const { ui, settleAll } = port();
    const open = [ui.select("Pick", ["a"]), ui.confirm("Sure?", ""), ui.editor("Text")];
    settleAll("abort");
    expect(await Promise.all(open)).toEqual([undefined, false, undefined]);
  });

  it("is not sent once the host is ending", async () => {
    const { ui, close, requests } = port();
    const open = ui.select("Pick", ["a"]);
    close();
    expect([await open, await ui.confirm("Sure?", "")]).toEqual([undefined, false]);
    expect(requests).toHaveLength(1);
  });
});

it("tells a client what to show, without waiting", () => {
  const { ui, requests } = port();
  ui.notify("done");
  ui.notify("careful", "warning");
  ui.setStatus("key", "text");
  ui.setStatus("key", undefined);
  ui.setWidget("key", ["line"], { placement: "belowEditor" });
  ui.setWidget("key", undefined);
  ui.setWidget("key", () => ({}));
  ui.setTitle("title");
  ui.setEditorText("text");
  ui.pasteToEditor("pasted");
  expect(requests.map(({ type: _, id: __, ...rest }) => rest)).toEqual([
    { method: "notify", message: "done" },
    { method: "notify", message: "careful", notifyType: "warning" },
    { method: "setStatus", statusKey: "key", statusText: "text" },
    { method: "setStatus", statusKey: "key" },
    {
      method: "setWidget",
      widgetKey: "key",
      widgetLines: ["line"],
      widgetPlacement: "belowEditor",
    },
    { method: "setWidget", widgetKey: "key" },
    { method: "setTitle", title: "title" },
    { method: "set_editor_text", text: "text" },
    { method: "set_editor_text", text: "pasted" },
  ]);
});

it("returns the documented values for terminal-only methods", async () => {
  const { ui } = port();
  expect(await ui.custom(() => {})).toBeUndefined();
  expect(ui.getEditorText()).toBe("");
  expect(ui.getToolsExpanded()).toBe(false);
  expect(ui.getAllThemes()).toEqual([]);
  expect(ui.getTheme("dark")).toBeUndefined();
  expect(ui.setTheme("dark")).toMatchObject({ success: false });
  expect(ui.theme.fg("accent", ui.theme.bold("plain"))).toBe("plain");
});

it("dismisses every dialog at once without a client", async () => {
  const { ui, hasUi } = createHeadlessUiPort();
  expect(hasUi).toBe(false);
  expect(await ui.select("Pick", ["a"])).toBeUndefined();
  expect(await ui.confirm("Sure?", "")).toBe(false);
  ui.notify("unheard");
});
