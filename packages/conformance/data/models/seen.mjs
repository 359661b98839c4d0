/** A model whose reply is what its users have said, a line for a line, without the host's note. */
export default ({ messages }) =>
  messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) =>
      typeof content === "string" ? [content] : content.map(({ text = "" }) => text),
    )
    .join("\n")
    .replace(/<environment>.*?<\/environment>/gs, "")
    .replace(/\n+/g, "\n");
