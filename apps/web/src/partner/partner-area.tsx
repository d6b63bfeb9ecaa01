import {
  IconBook,
  IconChartBar,
  IconCoins,
  IconGauge,
  IconKey,
  IconListSearch,
  IconPencilCheck,
  IconPhoneOutgoing,
  IconShieldCheck,
  IconSignature,
  IconWallet,
  IconWebhook,
} from '@tabler/icons-react';
import { DeskFrame, type DeskPage } from '../desk/desk-frame';
import { texts } from './texts';

const PAGES: readonly DeskPage[] = [
  { to: '/partner', name: texts.nav.overview, Icon: IconGauge },
  { to: '/partner/credentials', name: texts.nav.credentials, Icon: IconKey },
  { to: '/partner/requests', name: texts.nav.requests, Icon: IconListSearch },
  { to: '/partner/corrections', name: texts.nav.corrections, Icon: IconPencilCheck },
  { to: '/partner/redemptions', name: texts.nav.redemptions, Icon: IconCoins },
  { to: '/partner/calls', name: texts.nav.calls, Icon: IconPhoneOutgoing },
  { to: '/partner/webhooks', name: texts.nav.webhooks, Icon: IconWebhook },
  { to: '/partner/snapshot', name: texts.nav.snapshot, Icon: IconWallet },
  { to: '/partner/signature', name: texts.nav.signature, Icon: IconSignature },
  { to: '/partner/conformance', name: texts.nav.conformance, Icon: IconShieldCheck },
  { to: '/partner/usage', name: texts.nav.usage, Icon: IconChartBar },
  { to: '/partner/docs', name: texts.nav.docs, Icon: IconBook },
];

export function PartnerArea() {
  return <DeskFrame kind="partner" pages={PAGES} />;
}
