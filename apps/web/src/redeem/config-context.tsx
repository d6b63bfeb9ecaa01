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

/** An amount of the smallest unit as `340.25 LOW`, cut at six digits. */
export function useTokenText(): (amount: string) => string {
  const { language } = useTexts();
  const { token } = useRedeemConfig().chain;
  return (amount) =>
    `${formatAmount(amount, { decimals: token.decimals, locale: language, maxFraction: 6 })} ${token.symbol}`;
}
