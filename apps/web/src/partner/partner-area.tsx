import { Burger, Drawer, Group, NavLink } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconBook,
  IconChartBar,
  IconCoins,
  IconGauge,
  IconKey,
  IconListSearch,
  IconPhoneOutgoing,
  IconShieldCheck,
  IconSignature,
  IconWallet,
} from '@tabler/icons-react';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { SessionGate } from '../session/session-gate';
import classes from './partner-area.module.css';
import { texts } from './texts';

const PAGES = [
  { to: '/partner', name: texts.nav.overview, Icon: IconGauge },
  { to: '/partner/credentials', name: texts.nav.credentials, Icon: IconKey },
  { to: '/partner/requests', name: texts.nav.requests, Icon: IconListSearch },
  { to: '/partner/redemptions', name: texts.nav.redemptions, Icon: IconCoins },
  { to: '/partner/calls', name: texts.nav.calls, Icon: IconPhoneOutgoing },
  { to: '/partner/snapshot', name: texts.nav.snapshot, Icon: IconWallet },
  { to: '/partner/signature', name: texts.nav.signature, Icon: IconSignature },
  { to: '/partner/conformance', name: texts.nav.conformance, Icon: IconShieldCheck },
  { to: '/partner/usage', name: texts.nav.usage, Icon: IconChartBar },
  { to: '/partner/docs', name: texts.nav.docs, Icon: IconBook },
] as const;

/** The pages of partners, for those who are signed in. */
export function PartnerArea() {
  return <SessionGate kind="partner">{() => <Pages />}</SessionGate>;
}

/** With the way to each page: beside it, on a phone in a drawer. */
function Pages() {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <div className={classes['area']}>
      <div className={classes['beside']}>
        <Navigation />
      </div>
      <Group className={classes['above']} mb="sm">
        <Burger opened={isOpen} onClick={open} aria-label={texts.nav.open} size="sm" />
      </Group>
      <Drawer opened={isOpen} onClose={close} title={texts.nav.label} size="xs">
        <Navigation onChosen={close} />
      </Drawer>
      <div className={classes['page']}>
        <Outlet />
      </div>
    </div>
  );
}

function Navigation({ onChosen }: { readonly onChosen?: () => void }) {
  const path = useRouterState({ select: ({ location }) => location.pathname.replace(/\/$/, '') });
  const isAt = (to: string) => path === to || (to !== '/partner' && path.startsWith(`${to}/`));
  return (
    <nav aria-label={texts.nav.label}>
      {PAGES.map(({ to, name, Icon }) => (
        <NavLink
          key={to}
          active={isAt(to)}
          label={name}
          leftSection={<Icon size={18} aria-hidden />}
          renderRoot={(props) => (
            <Link
              to={to}
              activeOptions={{ exact: true }}
              {...props}
              {...(isAt(to) && { 'aria-current': 'page' })}
              onClick={onChosen}
            />
          )}
        />
      ))}
    </nav>
  );
}
