import { useEffect, useState } from 'react';

/** How far the clock of the server is ahead of this device's, by its last answer. Deadlines are the server's. */
let aheadMs = 0;

/** @param response of the console itself, to a request that took moments */
export function readServerClock(response: Response): void {
  const answeredMs = Date.parse(response.headers.get('date') ?? '');
  // The header has whole seconds: less than two are no difference.
  if (!Number.isNaN(answeredMs)) {
    const difference = answeredMs - Date.now();
    aheadMs = Math.abs(difference) < 2_000 ? 0 : difference;
  }
}

export function serverNowMs(): number {
  return Date.now() + aheadMs;
}

/** The server's time, each second while it is looked at. */
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
