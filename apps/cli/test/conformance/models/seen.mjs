/** A model whose reply is what it was shown, without the system prompt. */
export default ({ messages }) =>
  JSON.stringify(messages.map(({ role, content }) => [role, content]));
