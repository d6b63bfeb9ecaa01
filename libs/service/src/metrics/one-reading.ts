import { SingleFlight } from '#libs/platform';

/**
 * One reading serves all who ask while it is under way, as the gauges of a scrape do.
 * @param onError is told why there was none; then it is undefined
 */
export function oneReading<T>(
  read: () => Promise<T>,
  onError: (error: unknown) => void,
): () => Promise<T | undefined> {
  const readings = new SingleFlight<T | undefined>();
  const readOrTell = (): Promise<T | undefined> =>
    read().catch((error: unknown) => {
      onError(error);
      return undefined;
    });
  return () => readings.run(readOrTell);
}
