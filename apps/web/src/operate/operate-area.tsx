import { Burger, Drawer, Group, NavLink, ScrollArea, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconCheckbox,
  IconCoins,
  IconGauge,
  IconHeartbeat,
  IconListSearch,
  IconNotebook,
  IconPlugConnected,
  IconScale,
  IconWallet,
} from '@tabler/icons-react';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { SessionGate } from '../session/session-gate';
import classes from './operate-area.module.css';
import { texts } from './texts';

const PAGES = [
  { to: '/operate', name: texts.nav.overview, Icon: IconGauge },
  { to: '/operate/wallets', name: texts.nav.wallets, Icon: IconWallet },
  { to: '/operate/partners', name: texts.nav.partners, Icon: IconPlugConnected },
  { to: '/operate/redemptions', name: texts.nav.redemptions, Icon: IconCoins },
  { to: '/operate/reconciliation', name: texts.nav.reconciliation, Icon: IconScale },
  { to: '/operate/audits', name: texts.nav.audits, Icon: IconListSearch },
  { to: '/operate/doctor', name: texts.nav.doctor, Icon: IconHeartbeat },
  { to: '/operate/log', name: texts.nav.log, Icon: IconNotebook },
  { to: '/operate/approvals', name: texts.nav.approvals, Icon: IconCheckbox },
] as const;

/** The pages of operators, with the way to each: beside the page, on a phone in a drawer. */
export function OperateArea() {
  return <SessionGate kind="operator">{() => <Area />}</SessionGate>;
}

function Area() {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <div className={classes['area']}>
      <div className={classes['beside']}>
        <Navigation />
      </div>
      <Group className={classes['above']} mb="sm">
        <Burger opened={isOpen} onClick={open} aria-label={texts.nav.open} size="sm" />
        <CurrentPage />
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

function usePath(): string {
  return useRouterState({ select: ({ location }) => location.pathname.replace(/\/$/, '') });
}

function isWithin(path: string, to: string): boolean {
  return path === to || (to !== '/operate' && path.startsWith(`${to}/`));
}

function CurrentPage() {
  const path = usePath();
  return <span aria-hidden>{PAGES.find(({ to }) => isWithin(path, to))?.name}</span>;
}

function Navigation({ onChosen }: { readonly onChosen?: () => void }) {
  const path = usePath();
  return (
    <Stack gap="md" h="100%" component="nav" aria-label={texts.nav.label}>
      <ScrollArea>
        {PAGES.map(({ to, name, Icon }) => (
          <NavLink
            key={to}
            active={isWithin(path, to)}
            label={name}
            leftSection={<Icon size={18} aria-hidden />}
            renderRoot={(props) => (
              <Link
                to={to}
                activeOptions={{ exact: true }}
                {...props}
                activeOptions={{ exact: to === '/operate' }}
                onClick={onChosen}
              />
            )}
          />
        ))}
      </ScrollArea>
    </Stack>
  );
}
