import { useEffect, useState } from 'react';
import { type components } from '../../api/redemption.generated';
import { type Redemption } from '../config';

export type Feed = 'connecting' | 'live' | 'polling';
type Page = components['schemas']['Redemptions'];
type Take = (changed: readonly Redemption[], page?: Page) => void;

const URL_OF_EVENTS = '/player/api/redemptions/events';
/** Wait after a refused stream; the service may have too many streams. */
const TRY_AGAIN_MS = 20_000;

/**
 * Passes on changes of the wallet's redemptions as they happen. While the result is `polling` no changes arrive, so the
 * caller has to poll.
 */
export function useLiveFeed(wallet: string, take: Take): Feed {
  const [feed, setFeed] = useState<Feed>('connecting');
  useEffect(() => {
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const connect = (): void => {
      source = new EventSource(URL_OF_EVENTS);
      source.addEventListener('snapshot', ({ data }: MessageEvent<string>) => {
        const page = JSON.parse(data) as Page;
        setFeed('live');
        if (isOf(wallet, page.redemptions)) take(page.redemptions, page);
      });
      source.addEventListener('redemption', ({ data }: MessageEvent<string>) => {
        const one = JSON.parse(data) as Redemption;
        setFeed('live');
        if (isOf(wallet, [one])) take([one]);
      });
      source.onopen = () => {
        setFeed('live');
      };
      source.onerror = () => {
        setFeed('polling');
        // The browser reopens a broken stream by itself, but not a refused one.
        if (source?.readyState !== EventSource.CLOSED) return;
        timer = setTimeout(connect, TRY_AGAIN_MS);
      };
    };
    connect();
    return () => {
      source?.close();
      clearTimeout(timer);
    };
  }, [wallet, take]);
  return feed;
}

/** Another tab may have signed in with another wallet, so that this stream uses the cookie of that wallet. */
function isOf(wallet: string, redemptions: readonly Redemption[]): boolean {
  return redemptions.every((one) => one.wallet === wallet);
}
