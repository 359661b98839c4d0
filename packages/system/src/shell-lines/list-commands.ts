import { forEachChild, parse, type SyntaxNode } from "unbash";

/** More of a line helps nobody who is asked about it. */
const maxCommands = 50;
const maxLength = 20_000;

/**
 * The commands that a parser finds in a line, to be shown to a person. Never to be judged by: what bash makes of
 * the line may differ.
 */
export function listCommands(line: string): string[] {
  const commands: string[] = [];
  const visit = (node: SyntaxNode): void => {
    if (commands.length === maxCommands) return;
    if (node.type === "Command" && node.name !== undefined) {
      commands.push(line.slice(node.pos, node.end));
    }
    forEachChild(node, visit);
  };
  if (line.length <= maxLength) visit(parse(line));
  return commands;
}
