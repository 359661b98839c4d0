/**
 * The signal of a subagent's question. A subagent that is stopped ends, and so do its questions; but where the
 * caller was aborted, it is the abort that has ended them.
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
