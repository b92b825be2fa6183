/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const tokens: PanelTexts['tokens'] = {
  name: 'Nom',
  nameHint: 'Ce qui l’utilise, comme Surveillance.',
  nameProblem: 'Saisissez un nom de 100 caractères au plus.',
  role: 'Rôle',
  accounts: 'Comptes',
  created: 'Créé',
  expires: 'Expire',
  never: 'Jamais',
  days: 'jours',
  lastUsed: 'Dernière utilisation',
  revoke: 'Révoquer',
  create: 'Créer un jeton',
  createdTitle: 'Jeton créé',
  token: 'Jeton',
  none: 'Aucun jeton d’API',
  noneHint: 'Créez-en un pour chaque programme qui appelle l’API des exploitants.',
};
