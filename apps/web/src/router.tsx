import { createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { operateRoutes } from './operate/routes';
import { rootRoute } from './shell/root-route';

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
  component: lazyRouteComponent(() => import('./redeem/redeem-area'), 'RedeemArea'),
});
const partner = createRoute({
  getParentRoute: () => rootRoute,
  path: '/partner',
  component: lazyRouteComponent(() => import('./partner/partner-area'), 'PartnerArea'),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([home, redeem, operateRoutes, partner]),
  defaultPreload: 'intent',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
