"""The publications that docstrings cite by author and year, with their titles.

"The thesis" is van Hoof 2018, "the paper" in `metalearners.learners.factorization` Fusi 2018.
"""

from __future__ import annotations

REFERENCES = {
    "Ament 2023": (
        "S. Ament, S. Daulton, D. Eriksson, M. Balandat, E. Bakshy: Unexpected Improvements to Expected"
        " Improvement for Bayesian Optimization. NeurIPS 2023"
    ),
    "Auer 2002": (
        "P. Auer, N. Cesa-Bianchi, P. Fischer: Finite-time Analysis of the Multiarmed Bandit Problem."
        " Machine Learning 47, 2002"
    ),
    "Balef 2025": (
        "A. R. Balef, C. Vernade, K. Eggensperger: Put CASH on Bandits: A Max K-Armed Problem for Automated"
        " Machine Learning. NeurIPS 2025"
    ),
    "Bergstra 2011": (
        "J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl: Algorithms for Hyper-Parameter Optimization."
        " NeurIPS 2011"
    ),
    "Bhatt 2022": (
        "S. Bhatt, P. Li, G. Samorodnitsky: Extreme Bandits Using Robust Statistics."
        " IEEE Transactions on Information Theory, 2022"
    ),
    "Brier 1950": (
        "G. W. Brier: Verification of Forecasts Expressed in Terms of Probability."
        " Monthly Weather Review 78, 1950"
    ),
    "Caruana 2004": (
        "R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes: Ensemble Selection from Libraries of Models."
        " ICML 2004"
    ),
    "Cohen 1960": (
        "J. Cohen: A Coefficient of Agreement for Nominal Scales."
        " Educational and Psychological Measurement 20, 1960"
    ),
    "David 2016": "Y. David, N. Shimkin: Pure Exploration for Max-Quantile Bandits. ECML PKDD 2016",
    "Dempster 1977": (
        "A. P. Dempster, N. M. Laird, D. B. Rubin: Maximum Likelihood from Incomplete Data via the EM"
        " Algorithm. Journal of the Royal Statistical Society, Series B 39, 1977"
    ),
    "Demsar 2006": (
        "J. Demšar: Statistical Comparisons of Classifiers over Multiple Data Sets."
        " Journal of Machine Learning Research 7, 2006"
    ),
    "Falkner 2018": (
        "S. Falkner, A. Klein, F. Hutter: BOHB: Robust and Efficient Hyperparameter Optimization at Scale."
        " ICML 2018"
    ),
    "Feurer 2015": (
        "M. Feurer, A. Klein, K. Eggensperger, J. T. Springenberg, M. Blum, F. Hutter: Efficient and Robust"
        " Automated Machine Learning. NeurIPS 2015"
    ),
    "Feurer 2018": (
        "M. Feurer, B. Letham, F. Hutter, E. Bakshy: Practical Transfer Learning for Bayesian Optimization."
        " arXiv:1802.02219, 2018"
    ),
    "Feurer 2022": (
        "M. Feurer, K. Eggensperger, S. Falkner, M. Lindauer, F. Hutter: Auto-Sklearn 2.0: Hands-free AutoML"
        " via Meta-Learning. Journal of Machine Learning Research 23, 2022"
    ),
    "Fuernkranz 2001": (
        "J. Fürnkranz, J. Petrak: An Evaluation of Landmarking Variants. Workshop on Integrating Aspects of"
        " Data Mining, Decision Support and Meta-Learning, ECML/PKDD 2001"
    ),
    "Fusi 2018": (
        "N. Fusi, R. Sheth, M. Elibol: Probabilistic Matrix Factorization for Automated Machine Learning."
        " NeurIPS 2018"
    ),
    "Ginsbourger 2010": (
        "D. Ginsbourger, R. Le Riche, L. Carraro: Kriging Is Well-Suited to Parallelize Optimization."
        " Computational Intelligence in Expensive Optimization Problems, Springer 2010"
    ),
    "Hutter 2011": (
        "F. Hutter, H. H. Hoos, K. Leyton-Brown: Sequential Model-Based Optimization for General Algorithm"
        " Configuration. LION 5, 2011"
    ),
    "James 2000": (
        "G. M. James, T. J. Hastie, C. A. Sugar: Principal Component Models for Sparse Functional Data."
        " Biometrika 87, 2000"
    ),
    "Jamieson 2016": (
        "K. Jamieson, A. Talwalkar: Non-stochastic Best Arm Identification and Hyperparameter Optimization."
        " AISTATS 2016"
    ),
    "Joanes 1998": (
        "D. N. Joanes, C. A. Gill: Comparing Measures of Sample Skewness and Kurtosis."
        " The Statistician 47, 1998"
    ),
    "Jones 1998": (
        "D. R. Jones, M. Schonlau, W. J. Welch: Efficient Global Optimization of Expensive Black-Box"
        " Functions. Journal of Global Optimization 13, 1998"
    ),
    "Kohavi 1996": (
        "R. Kohavi, D. H. Wolpert: Bias Plus Variance Decomposition for Zero-One Loss Functions. ICML 1996"
    ),
    "Kushner 1964": (
        "H. J. Kushner: A New Method of Locating the Maximum Point of an Arbitrary Multipeak Curve in the"
        " Presence of Noise. Journal of Basic Engineering 86, 1964"
    ),
    "Li 2018": (
        "L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh, A. Talwalkar: Hyperband: A Novel Bandit-Based"
        " Approach to Hyperparameter Optimization. Journal of Machine Learning Research 18, 2018"
    ),
    "Lindauer 2022": (
        "M. Lindauer and others: SMAC3: A Versatile Bayesian Optimization Package for Hyperparameter"
        " Optimization. Journal of Machine Learning Research 23, 2022"
    ),
    "Lucchese 2015": (
        "C. Lucchese, F. M. Nardini, S. Orlando, R. Perego, N. Tonellotto, R. Venturini: QuickScorer: A Fast"
        " Algorithm to Rank Documents with Additive Ensembles of Regression Trees. SIGIR 2015"
    ),
    "Micci-Barreca 2001": (
        "D. Micci-Barreca: A Preprocessing Scheme for High-Cardinality Categorical Attributes in"
        " Classification and Prediction Problems. SIGKDD Explorations 3, 2001"
    ),
    "Okabe 2008": (
        "M. Okabe, K. Ito: Color Universal Design: How to Make Figures and Presentations That Are Friendly to"
        " Colorblind People. 2008"
    ),
    "Peng 2002": (
        "Y. Peng, P. A. Flach, C. Soares, P. Brazdil: Improved Dataset Characterisation for Meta-learning."
        " Discovery Science 2002"
    ),
    "Probst 2019": (
        "P. Probst, A.-L. Boulesteix, B. Bischl: Tunability: Importance of Hyperparameters of Machine"
        " Learning Algorithms. Journal of Machine Learning Research 20, 2019"
    ),
    "Provost 2001": (
        "F. Provost, P. Domingos: Well-Trained PETs: Improving Probability Estimation Trees."
        " CeDER Working Paper IS-00-04, New York University, 2001"
    ),
    "Rahimi 2007": ("A. Rahimi, B. Recht: Random Features for Large-Scale Kernel Machines. NeurIPS 2007"),
    "Rakotoarison 2019": (
        "H. Rakotoarison, M. Schoenauer, M. Sebag: Automated Machine Learning with Monte-Carlo Tree Search."
        " IJCAI 2019"
    ),
    "Ramsay 2005": "J. O. Ramsay, B. W. Silverman: Functional Data Analysis. 2nd edition, Springer 2005",
    "Rasmussen 2006": (
        "C. E. Rasmussen, C. K. I. Williams: Gaussian Processes for Machine Learning. MIT Press 2006"
    ),
    "Russo 2016": "D. Russo: Simple Bayesian Algorithms for Best Arm Identification. COLT 2016",
    "Salinas 2023": (
        "D. Salinas, N. Erickson: TabRepo: A Large Scale Repository of Tabular Model Evaluations and its"
        " AutoML Applications. arXiv:2311.02971, 2023"
    ),
    "Shapley 1953": (
        "L. S. Shapley: A Value for n-Person Games. Contributions to the Theory of Games II, Princeton"
        " University Press, 1953"
    ),
    "Snoek 2012": (
        "J. Snoek, H. Larochelle, R. P. Adams: Practical Bayesian Optimization of Machine Learning"
        " Algorithms. NeurIPS 2012"
    ),
    "Srinivas 2010": (
        "N. Srinivas, A. Krause, S. M. Kakade, M. Seeger: Gaussian Process Optimization in the Bandit"
        " Setting: No Regret and Experimental Design. ICML 2010"
    ),
    "Szorenyi 2015": (
        "B. Szörényi, R. Busa-Fekete, P. Weng, E. Hüllermeier: Qualitative Multi-Armed Bandits: A"
        " Quantile-Based Approach. ICML 2015"
    ),
    "Titsias 2009": (
        "M. K. Titsias: Variational Learning of Inducing Variables in Sparse Gaussian Processes. AISTATS 2009"
    ),
    "van Hoof 2018": (
        "J. van Hoof: Automated Machine Learning with Gradient Boosting and Meta-Learning. Master's thesis,"
        " Eindhoven University of Technology, 2018"
    ),
    "van Hoof 2021": (
        "J. van Hoof, J. Vanschoren: Hyperboost: Hyperparameter Optimization by Gradient Boosting Surrogate"
        " Models. arXiv:2101.02289, 2021"
    ),
    "Wang 2021": (
        "C. Wang, Q. Wu, S. Huang, A. Saied: Economical Hyperparameter Optimization with Blended Search"
        " Strategy. ICLR 2021"
    ),
    "Webb 2000": (
        "G. I. Webb: MultiBoosting: A Technique for Combining Boosting and Wagging. Machine Learning 40, 2000"
    ),
    "Wilson 2016": ("A. G. Wilson, Z. Hu, R. Salakhutdinov, E. P. Xing: Deep Kernel Learning. AISTATS 2016"),
    "Wistuba 2016": (
        "M. Wistuba, N. Schilling, L. Schmidt-Thieme: Two-Stage Transfer Surrogate Model for Automatic"
        " Hyperparameter Optimization. ECML PKDD 2016"
    ),
    "Zhu 2009": (
        "J. Zhu, H. Zou, S. Rosset, T. Hastie: Multi-class AdaBoost. Statistics and Its Interface 2, 2009"
    ),
}
"""First author and year -> the reference."""
