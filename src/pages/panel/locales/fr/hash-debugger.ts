/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const hashDebugger: PanelTexts['debugger'] = {
  intro: 'Trouvez pourquoi la passerelle répond « Hash is not valid » à une requête d’un marchand.',
  account: 'Compte',
  choose: 'Choisir un compte',
  chooseAccount: 'Choisissez un compte de la liste et saisissez à nouveau la requête.',
  request: 'Contenu de la requête',
  requestHint: 'Le contenu entier, exactement comme envoyé : le formulaire de /post, ou le JSON de Checkout.',
  hidden:
    'La requête n’est plus affichée, parce qu’elle contient un secret ou un numéro de carte, ou que le compte n’est pas connu.',
  path: 'Chemin de la requête',
  inferred: 'Le déduire des champs',
  pathHint: 'Nécessaire seulement si deux opérations ont les mêmes champs.',
  explain: 'Expliquer',
  right: 'Le hash est correct.',
  rightWithMistakes: 'Le hash est correct, mais autre chose peut être faux.',
  wrong: 'Le hash n’est pas correct.',
  hints: 'Que faire',
  mistakes: 'Erreurs :',
  signedText: 'Texte signé',
  signedHint: 'Les valeurs dans leur ordre, en majuscules, puis le mot de passe, affiché comme ***.',
  signedHintReversed:
    'Le texte de la recette reversed_md5, en partie inversé, en majuscules ; le mot de passe est affiché comme ***.',
  operation: 'Opération',
  noDigests: 'Votre rôle n’affiche pas le MD5 ni le SHA-1 : avec eux, la requête pourrait être envoyée.',
  fields: 'Champs signés dans leur ordre',
  noFields: 'Le hash de cette opération ne vient que du mot de passe.',
  field: 'Champ',
  value: 'Valeur',
  noValue: 'non envoyé',
  refused: 'Requêtes refusées',
  refusedHint:
    'Ou choisissez une requête récente dont le hash a été refusé. La passerelle l’a expliquée à son arrivée : elle ne garde ni le hash ni le mot de passe.',
  noRefused: 'Aucune requête n’a été refusée pour son hash récemment.',
  allRefused: 'Toutes les requêtes refusées',
  at: 'Date',
  order: 'Commande',
  mistake: 'Erreur',
  notExplained:
    'Cette requête n’a pas été expliquée, parce que trop ont été refusées en même temps. Saisissez son contenu ci-dessous.',
  ofCall: 'Requête de',
  showCall: 'Afficher l’appel d’API',
  noDigestsOfCall: 'Le MD5 et le SHA-1 ne s’affichent que pour une requête saisie ci-dessous.',
};
