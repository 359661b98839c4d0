/** A model that replies with the users' messages, one per line, without the host's note. */
export default ({ messages }) =>
  messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) =>
      typeof content === "string" ? [content] : content.map(({ text = "" }) => text),
    )
    .join("\n")
    .replace(/<environment>.*?<\/environment>/gs, "")
    .replace(/\n+/g, "\n");
