import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { operateRoutes } from './operate/routes';
import { partnerRoutes } from './partner/routes';
import { CrashPage } from './shell/fallback-pages';
import { rootRoute } from './shell/root-route';
import { lazyPage } from './shell/upgrades';
const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the router’s way to redirect
    throw redirect({ to: '/redeem' });
  },
});

/** Each area is loaded when it is entered: a player loads nothing of the operators'. */
const redeem = createRoute({
  getParentRoute: () => rootRoute,
  path: '/redeem',
  component: lazyPage(() => import('./redeem/redeem-area'), 'RedeemArea'),
});

const operatorSignIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operate/sign-in',
  component: lazyPage(() => import('./session/sign-in-page'), 'OperatorSignIn'),
});
const partnerSignIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/partner/sign-in',
  component: lazyPage(() => import('./session/sign-in-page'), 'PartnerSignIn'),
});
const operatorSignedIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operate/signed-in',
  component: lazyPage(() => import('./desk/signed-in-page'), 'SignedInPage'),
});
const partnerSignedIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/partner/signed-in',
  component: lazyPage(() => import('./desk/signed-in-page'), 'SignedInPage'),
});
const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/partner/invitation',
  component: lazyPage(() => import('./session/link-pages'), 'InvitationPage'),
});
const link = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/link',
  component: lazyPage(() => import('./session/link-pages'), 'LinkPage'),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    ...[home, redeem, operateRoutes, partnerRoutes],
    ...[operatorSignIn, partnerSignIn, operatorSignedIn, partnerSignedIn, invitation, link],
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: CrashPage,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
