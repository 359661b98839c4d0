/** A model whose reply is what its users have said, a line for a line. */
export default ({ messages }) =>
  messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) =>
      typeof content === "string" ? [content] : content.map(({ text = "" }) => text),
    )
    .join("\n")
    .replace(/\n+/g, "\n");
