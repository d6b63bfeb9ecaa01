import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { NotFoundPage } from './shell/not-found-page';
import { Shell } from './shell/shell';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the router’s way to redirect
    throw redirect({ to: '/redeem' });
  },
});

/** Each area is loaded when it is entered: a player loads nothing of the operators'. */
const redeem = createRoute({
  getParentRoute: () => root,
  path: '/redeem',
  component: lazyRouteComponent(() => import('./redeem/redeem-area'), 'RedeemArea'),
});
const operate = createRoute({
  getParentRoute: () => root,
  path: '/operate',
  component: lazyRouteComponent(() => import('./operate/operate-area'), 'OperateArea'),
});
const partner = createRoute({
  getParentRoute: () => root,
  path: '/partner',
  component: lazyRouteComponent(() => import('./partner/partner-area'), 'PartnerArea'),
});

const operatorSignIn = createRoute({
  getParentRoute: () => root,
  path: '/operate/sign-in',
  component: lazyRouteComponent(() => import('./session/sign-in-page'), 'OperatorSignIn'),
});
const partnerSignIn = createRoute({
  getParentRoute: () => root,
  path: '/partner/sign-in',
  component: lazyRouteComponent(() => import('./session/sign-in-page'), 'PartnerSignIn'),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/partner/invitation',
  component: lazyRouteComponent(() => import('./session/link-pages'), 'InvitationPage'),
});
const link = createRoute({
  getParentRoute: () => root,
  path: '/sign-in/link',
  component: lazyRouteComponent(() => import('./session/link-pages'), 'LinkPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...[home, redeem, operate, partner],
    ...[operatorSignIn, partnerSignIn, invitation, link],
  ]),
  defaultPreload: 'intent',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
