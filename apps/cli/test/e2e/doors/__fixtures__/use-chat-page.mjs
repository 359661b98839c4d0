// A page with `useChat` and without server code of its own; the test bundles it.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { createElement as h } from "react";
import { createRoot } from "react-dom/client";

const { api, token } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

function Chat() {
  const { messages, status, error, sendMessage, addToolApprovalResponse } = useChat({
    transport: new DefaultChatTransport({ api, headers: { authorization: `Bearer ${token}` } }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const part = (one, index) => {
    if (one.type === "text") return h("p", { key: index }, one.text);
    if (one.type !== "dynamic-tool") return null;
    const { toolName, state, approval } = one;
    const answer = (approved) => () => addToolApprovalResponse({ id: approval.id, approved });
    const ask = state === "approval-requested";
    return h(
      "div",
      { key: index, className: "tool" },
      `${toolName}: ${state}`,
      ask && h("button", { onClick: answer(true) }, "Allow"),
      ask && h("button", { onClick: answer(false) }, "Deny"),
    );
  };
  return h(
    "main",
    {},
    h("output", {}, error === undefined ? status : `error: ${error.message}`),
    messages.map(({ id, role, parts }) => h("section", { key: id, className: role }, parts.map(part))),
    h("button", { onClick: () => sendMessage({ text: "What does it say?" }) }, "Send"),
  );
}

createRoot(document.body).render(h(Chat));
