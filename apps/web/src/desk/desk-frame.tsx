import { Burger, Button, Drawer, Group, NavLink, ScrollArea, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type Icon } from '@tabler/icons-react';
import { Link, type LinkProps, Outlet, useRouterState } from '@tanstack/react-router';
import { type ComponentType, useRef } from 'react';
import { useKeptFocus } from '../redeem/kept-focus';
import { SessionGate } from '../session/session-gate';
import { type Kind } from '../session/use-session';
import classes from './desk-frame.module.css';
import { FreshSignIn } from './fresh-sign-in';
import { texts } from './texts';

/** Removes Mantine's hover colour, which is too dark for the text. */
const sameUnderMouse = () => ({ root: { '--nl-hover': 'var(--nl-bg)' }, children: {} });

export interface DeskPage {
  readonly to: NonNullable<LinkProps['to']>;
  readonly name: string;
  readonly Icon: Icon;
  /** Shown beside the page's name in the menu. */
  readonly More?: ComponentType;
}

interface DeskFrameProps {
  readonly kind: Kind;
  /** The first page is the area's start page. */
  readonly pages: readonly DeskPage[];
}

/** An area for signed-in users, with a menu of its pages: beside the page, and on a phone in a drawer. */
export function DeskFrame({ kind, pages }: DeskFrameProps) {
  return (
    <SessionGate kind={kind}>
      {(session) => (
        <>
          <Area pages={pages} />
          <FreshSignIn session={session} />
        </>
      )}
    </SessionGate>
  );
}

function Area({ pages }: Pick<DeskFrameProps, 'pages'>) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const area = useKeptFocus();
  const place = useRef<HTMLDivElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname.replace(/\/$/, '') });
  const home = pages[0]?.to;
  const current = pages.find(({ to }) => path === to || (to !== home && path.startsWith(`${to}/`)));
  return (
    <div className={classes['area']} ref={area}>
      <Button className={classes['skip'] ?? ''} onClick={() => place.current?.focus()}>
        {texts.skip}
      </Button>
      <div className={classes['beside']}>
        <Navigation pages={pages} current={current} />
      </div>
      <Group className={classes['above']} mb="sm">
        <Burger opened={isOpen} onClick={open} aria-label={texts.openPages} size="sm" />
        <span aria-hidden>{current?.name}</span>
      </Group>
      <Drawer
        opened={isOpen}
        onClose={close}
        title={texts.pages}
        size="xs"
        closeButtonProps={{ 'aria-label': texts.close }}
      >
        <Navigation pages={pages} current={current} onChosen={close} />
      </Drawer>
      <div className={classes['page']} ref={place} tabIndex={-1}>
        <Outlet />
      </div>
    </div>
  );
}

interface NavigationProps {
  readonly pages: readonly DeskPage[];
  readonly current: DeskPage | undefined;
  readonly onChosen?: () => void;
}

function Navigation({ pages, current, onChosen }: NavigationProps) {
  return (
    <Stack gap="md" h="100%" component="nav" aria-label={texts.pages}>
      <ScrollArea>
        {pages.map((page) => (
          <NavLink
            key={page.to}
            active={page === current}
            vars={sameUnderMouse}
            label={page.name}
            leftSection={<page.Icon size={18} aria-hidden />}
            rightSection={page.More && <page.More />}
            renderRoot={(props) => (
              <Link
                to={page.to}
                activeOptions={{ exact: true }}
                {...props}
                {...(page === current && { 'aria-current': 'page' })}
                onClick={onChosen}
              />
            )}
          />
        ))}
      </ScrollArea>
    </Stack>
  );
}
