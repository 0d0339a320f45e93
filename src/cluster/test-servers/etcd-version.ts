/** The version by which our stand-in for etcd tells that it stores nothing. */
export const standInVersion = "coracle";
