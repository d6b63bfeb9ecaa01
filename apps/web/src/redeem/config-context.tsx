import { createContext, type ReactNode, use } from 'react';
import { formatAmount } from '../format/amount';
import { useTexts } from '../texts/texts-context';
import { type RedeemConfig } from './config';

const ConfigContext = createContext<RedeemConfig | undefined>(undefined);

export function ConfigProvider({
  config,
  children,
}: {
  readonly config: RedeemConfig;
  readonly children: ReactNode;
}) {
  return <ConfigContext value={config}>{children}</ConfigContext>;
}

export function useRedeemConfig(): RedeemConfig {
  const config = use(ConfigContext);
  if (config === undefined) throw new Error('useRedeemConfig needs a ConfigProvider above it.');
  return config;
}

/** Formats an amount of the smallest unit as `340.25 LOW`, cut at six digits; `…` while the decimals are unknown. */
export function useTokenText(): (amount: string) => string {
  const { locale } = useTexts();
  const { decimals, symbol } = useRedeemConfig().chain.token;
  return (amount) => {
    if (decimals === null) return '…';
    return `${formatAmount(amount, { decimals, locale, maxFraction: 6 })} ${symbol ?? ''}`.trim();
  };
}

/** Whether the top of the page reports that the service is unreachable, so that its parts do not repeat it. */
export const OutageContext = createContext(false);
