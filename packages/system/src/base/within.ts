/**
 * Waits for work for at most the given number of milliseconds; after that `late` decides the
 * result. The work itself continues.
 */
export async function within<Value, Late = undefined>(
  limitMs: number,
  work: Promise<Value>,
  late: () => Late = () => undefined as Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    return await Promise.race([work, over.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
