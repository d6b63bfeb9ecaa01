import { useEffect, useState } from 'react';

/**
 * How far the server's clock is ahead of this device's, in milliseconds, by the last answer. Deadlines are in the
 * server's time.
 */
let aheadMs = 0;

/** @param response of the console itself, to a short request */
export function readServerClock(response: Response): void {
  const answeredMs = Date.parse(response.headers.get('date') ?? '');
  // The header has whole seconds, so a difference below two seconds is ignored.
  if (!Number.isNaN(answeredMs)) {
    const difference = answeredMs - Date.now();
    aheadMs = Math.abs(difference) < 2_000 ? 0 : difference;
  }
}

export function serverNowMs(): number {
  return Date.now() + aheadMs;
}

/** The server's time, updated every second. */
export function useNow(): number {
  const [nowMs, setNow] = useState(serverNowMs);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(serverNowMs());
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
