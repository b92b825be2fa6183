/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const accountChoice: PanelTexts['accountChoice'] = {
  title: 'Cuentas',
  all: 'Todas',
  hint: 'Solo ve las cuentas elegidas. Si no se elige ninguna, las ve todas. El rol Comercio necesita al menos una.',
  restrictedHint: 'Solo ve las cuentas elegidas. Elija al menos una de las suyas.',
  more: 'Otros ID de cuenta, uno por línea',
  problem: 'No hay ninguna cuenta con uno de estos ID.',
  restricted: 'Elija al menos una cuenta.',
  missing: 'Un comercio necesita al menos una cuenta.',
};
