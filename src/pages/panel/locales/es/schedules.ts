/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const schedules: PanelTexts['schedules'] = {
  name: 'Nombre',
  state: 'Estado',
  active: 'Activo',
  stopped: 'Detenido',
  stoppedAt: 'Detenido',
  subscriptionStates: { active: 'activa', finished: 'terminada', ended: 'detenida' },
  finished: 'Terminada',
  interval: 'Frecuencia',
  intervalText: 'Cada {interval}, {count} veces',
  dayOfMonth: 'Día del mes',
  delays: 'Intervalos antes del primer cobro',
  next: 'Próximo cobro',
  terms: 'Condiciones',
  subscriptions: 'Suscripciones',
  activeSubscriptions: 'Suscripciones activas',
  noSubscriptions: 'Ningún pago usa aún este plan de cobros.',
  firstOf: 'Las primeras de todas, por la fecha del próximo cobro:',
  firstPayment: 'Primer pago',
  occurrences: 'Cobros',
  failed: 'Abandonados',
  charges: 'Pagos de este plan de cobros',
  noCharges: 'Aún no se ha cobrado nada.',
  stop: 'Detener',
  stopSchedule: 'Detener el plan de cobros',
  stopConfirm:
    'No se cobra nada más por ninguna suscripción de este plan. Los pagos hechos se quedan como están. Esto no se puede deshacer.',
  stopSubscription: 'Detener la suscripción',
  stopSubscriptionConfirm:
    'No se cobra nada más por esta suscripción; las demás del plan continúan. Un cobro que está en curso se termina. Esto no se puede deshacer.',
  done: {
    schedule: 'El plan de cobros está detenido: no se cobra nada más.',
    subscription: 'La suscripción está detenida: no se cobra nada más por ella.',
  },
  none: 'No hay planes de cobro',
  noneHint:
    'Una tienda crea uno a través de la API cuando un pagador se suscribe. La guía para comercios explica cómo.',
};
