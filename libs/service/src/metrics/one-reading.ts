/**
 * One reading serves all who ask while it is under way, as the gauges of a scrape do.
 * @param onError is told why there was none; then it is undefined
 */
export function oneReading<T>(
  read: () => Promise<T>,
  onError: (error: unknown) => void,
): () => Promise<T | undefined> {
  let current: Promise<T | undefined> | undefined;
  return () =>
    (current ??= read()
      .catch((error: unknown) => {
        onError(error);
        return undefined;
      })
      .finally(() => {
        current = undefined;
      }));
}
