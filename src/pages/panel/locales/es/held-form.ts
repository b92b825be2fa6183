/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const heldForm: PanelTexts['heldForm'] = {
  intro:
    'Aún no se ha cambiado nada. Demuestre primero quién es y vuelva después a esta pestaña: lo que escribió se conserva.',
  confirm: 'Confirmar en una pestaña nueva',
  goOn: 'Continuar',
  cancel: 'Cancelar',
  confirmed: 'Ha confirmado su identidad',
  backToForm: 'Cierre esta pestaña y continúe en la pestaña de la que vino.',
};
