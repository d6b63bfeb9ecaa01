import { type Clock, TtlCache } from '#libs/platform';

const SHARED_MS = 1000;

/**
 * The same reading for all who ask within a second of its beginning, also one that fails: those who may ask as often as they like
 * cost one reading a second.
 */
export function sharedReading<T>(read: () => Promise<T>, clock: Clock): () => Promise<T> {
  const readings = new TtlCache<'reading', Promise<T>>({ clock, ttlMs: SHARED_MS, max: 1 });
  return () => {
    const kept = readings.get('reading');
    if (kept !== undefined) return kept;
    const reading = read();
    readings.set('reading', reading);
    return reading;
  };
}
