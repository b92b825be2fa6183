/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const operators: PanelTexts['operators'] = {
  name: 'Nom',
  email: 'Adresse e-mail',
  refundLimit: 'Limite de remboursement',
  refundLimitHint:
    'Le maximum que cette personne peut rembourser sur un paiement, dans sa devise, par exemple 50.00. Laissez vide pour ne pas fixer de limite.',
  refundLimitProblem: 'Saisissez un nombre comme 50.00, ou rien.',
  noLimit: 'Sans limite',
  delete: 'Supprimer',
  role: 'Rôle',
  state: 'État',
  lastSignIn: 'Dernière connexion',
  change: 'Modifier',
  save: 'Enregistrer',
  suspend: 'Suspendre',
  resume: 'Lever la suspension',
  invite: 'Inviter un utilisateur',
  inviteButton: 'Créer l’invitation',
  inviteAgain: 'Nouveau lien',
  invited: 'Invitation créée',
  inviteHint: 'Envoyez ce lien à l’utilisateur. Il fonctionne une fois, pendant sept jours, et n’est plus affiché.',
  link: 'Lien',
  accounts: 'Comptes',
  emailProblem: 'Saisissez une adresse e-mail.',
  emailInUse: 'Un utilisateur a déjà cette adresse.',
  you: 'vous',
  states: { invited: 'invité', active: 'actif', suspended: 'suspendu' },
  mailed: 'L’invitation a été envoyée par e-mail.',
  notMailed: 'L’e-mail n’a pas pu être envoyé :',
  mailedHint:
    'Vous pouvez aussi envoyer ce lien vous-même. Il fonctionne une fois, pendant sept jours, et n’est plus affiché.',
};
