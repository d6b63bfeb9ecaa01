import { type Clock } from '#libs/platform';

const SHARED_MS = 1000;

/** The same reading for all who ask within a second: whoever may ask as often as they like costs one reading a second. */
export function sharedReading<T>(read: () => Promise<T>, clock: Clock): () => Promise<T> {
  let reading: Promise<T> | undefined;
  let atMs = 0;
  return () => {
    const nowMs = clock.nowMs();
    // A clock that was set back must not keep a reading for ever.
    if (reading === undefined || Math.abs(nowMs - atMs) >= SHARED_MS) {
      reading = read();
      atMs = nowMs;
    }
    return reading;
  };
}
