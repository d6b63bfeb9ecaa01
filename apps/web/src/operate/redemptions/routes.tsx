import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { operateRoute } from '../operate-route';

const list = createRoute({
  getParentRoute: () => operateRoute,
  path: '/redemptions',
  component: lazyRouteComponent(() => import('./redemptions-page'), 'RedemptionsPage'),
});
const one = createRoute({
  getParentRoute: () => operateRoute,
  path: '/redemptions/$redemption',
  component: lazyRouteComponent(() => import('./redemption-page'), 'RedemptionPage'),
});

export const redemptionRoutes = [list, one] as const;
