import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { operateRoute } from '../operate-route';

const list = createRoute({
  getParentRoute: () => operateRoute,
  path: '/partners',
  component: lazyRouteComponent(() => import('./partners-page'), 'PartnersPage'),
});
const one = createRoute({
  getParentRoute: () => operateRoute,
  path: '/partners/$partner',
  component: lazyRouteComponent(() => import('./partner-page'), 'PartnerPage'),
});

export const partnerRoutes = [list, one] as const;
