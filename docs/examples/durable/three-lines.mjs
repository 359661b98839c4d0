/** A model that runs three commands, one a turn, and says when it is done. */
export default ({ messages }) => {
  const replies = messages.filter(({ role }) => role === "assistant").length;
  const line = ["one", "two", "three"][replies];
  if (line === undefined) return "Wrote three lines.";
  const command = `echo ${line} >> lines.txt; sleep 1; echo wrote ${line}`;
  return { content: [{ type: "toolCall", name: "bash", arguments: { command } }] };
};
