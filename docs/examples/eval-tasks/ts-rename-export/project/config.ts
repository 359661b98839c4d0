export function load(): { port: number } {
  return { port: 8080 };
}
