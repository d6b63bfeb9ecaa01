import {
  IconCertificate,
  IconCheckbox,
  IconCoins,
  IconGauge,
  IconHeartbeat,
  IconListSearch,
  IconNotebook,
  IconPlugConnected,
  IconRubberStamp,
  IconScale,
  IconWallet,
} from '@tabler/icons-react';
import { ApprovalCount } from './approvals/open-approvals';
import { DeskFrame, type DeskPage } from '../desk/desk-frame';
import { texts } from './texts';

const PAGES: readonly DeskPage[] = [
  { to: '/operate', name: texts.nav.overview, Icon: IconGauge },
  { to: '/operate/wallets', name: texts.nav.wallets, Icon: IconWallet },
  { to: '/operate/partners', name: texts.nav.partners, Icon: IconPlugConnected },
  { to: '/operate/redemptions', name: texts.nav.redemptions, Icon: IconCoins },
  { to: '/operate/adoption', name: texts.nav.adoption, Icon: IconRubberStamp },
  { to: '/operate/reconciliation', name: texts.nav.reconciliation, Icon: IconScale },
  { to: '/operate/audits', name: texts.nav.audits, Icon: IconListSearch },
  { to: '/operate/registry', name: texts.nav.registry, Icon: IconCertificate },
  { to: '/operate/doctor', name: texts.nav.doctor, Icon: IconHeartbeat },
  { to: '/operate/log', name: texts.nav.log, Icon: IconNotebook },
  { to: '/operate/approvals', name: texts.nav.approvals, Icon: IconCheckbox, More: ApprovalCount },
];

export function OperateArea() {
  return <DeskFrame kind="operator" pages={PAGES} />;
}
