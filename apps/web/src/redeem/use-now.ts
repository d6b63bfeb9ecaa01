import { useEffect, useState } from 'react';
import { serverNowMs } from '../api/server-clock';

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
