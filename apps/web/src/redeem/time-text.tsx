import { formatTime, formatUtc } from '../format/time';
import { useTexts } from '../texts/texts-context';
import { serverNowMs } from '../api/server-clock';

/** A time in the viewer's zone; the same in UTC is its title. */
export function TimeText({ iso }: { readonly iso: string }) {
  const { locale } = useTexts();
  return (
    <time dateTime={iso} title={formatUtc(iso)}>
      {formatTime(iso, locale, serverNowMs())}
    </time>
  );
}
