/**
 * The signal of a subagent's question. When a subagent is stopped, its questions end, too. If the caller was aborted,
 * the reason is the caller's abort.
 */
export function endedWith(question: AbortSignal, caller: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const end = (): void => {
    const { reason } = caller.aborted ? caller : question;
    controller.abort(reason);
  };
  question.addEventListener("abort", end, { once: true });
  if (question.aborted) end();
  return controller.signal;
}
